"""Texts that the tools write. (Given.)"""
