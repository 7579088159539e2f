"""The task of a queue that is measured without pictures."""


def nothing(number):
    pass
