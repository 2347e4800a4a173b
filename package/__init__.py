"""gen-kernels: kernel registration and selective build for ExecuTorch models."""
