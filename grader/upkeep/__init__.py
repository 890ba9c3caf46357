"""For maintainers: does the course keep its own rules, and do its tests judge correctly?"""
