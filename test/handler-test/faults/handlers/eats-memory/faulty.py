"""Reads a whole export into memory."""
lines = [bytes(1024) for _ in range(200 * 1024)]
print("exported", len(lines), "lines")
