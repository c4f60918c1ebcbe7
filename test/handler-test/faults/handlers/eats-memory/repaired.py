"""Reads an export line by line."""
count = 0
for line in (bytes(1024) for _ in range(200 * 1024)):
    count += 1
print("exported", count, "lines")
