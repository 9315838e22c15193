internal import Glibc

// Everything is decided in `Program`; a process ends here and nowhere else.
Descriptor.prepare()
System.forbidCoreFiles()
exit(Program(arguments: CommandLine.arguments.dropFirst()).run())
