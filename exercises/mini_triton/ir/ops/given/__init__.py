"""Operations that no task needs. (Given; to skip.)"""
