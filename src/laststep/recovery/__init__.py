"""What is to be changed after a failure?"""
