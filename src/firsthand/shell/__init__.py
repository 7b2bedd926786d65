"""What a shell line consists of, as far as its text tells: pure functions."""
