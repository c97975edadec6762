"""How does each launcher spell what laststep wants to say?"""
