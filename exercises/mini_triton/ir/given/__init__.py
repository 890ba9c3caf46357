"""Given, and to skip: what `tl.device_print` shows."""
