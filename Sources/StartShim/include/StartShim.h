// Nothing to call: StartShim.c takes the place of functions that Swift's library asks for.
