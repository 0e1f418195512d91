"""What a tool's JSON Schemas amount to in the annotation language, ready to paste."""
