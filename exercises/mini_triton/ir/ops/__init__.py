"""Every operation, declared once: its operands, attributes and type rule. A file a family."""
