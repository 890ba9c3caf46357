"""Operations and modules as plain data, with planted faults, beside real Triton's parser and verifier."""
