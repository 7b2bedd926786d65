"""Judgements made from records alone, never from prose."""
