"""For tests of servers: fake callers, what they see, and assertions about it."""
