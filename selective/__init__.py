"""The `.pte` reader, kernel keys and selections."""
