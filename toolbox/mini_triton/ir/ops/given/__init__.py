"""Operations that no task needs. (Given; you can skip them.)"""
