"""Operations and modules as plain data, with planted faults, judged by real Triton's parser and verifier."""
