// Calls take and return values of the model, so `import Cameo` includes them, and also URLSession where Foundation has it
// in a separate module.
@_exported public import CameoModel

@_exported public import struct CameoStore.BackupReport
@_exported public import struct CameoStore.BulkProgress
@_exported public import struct CameoStore.CheckFinding
@_exported public import enum CameoStore.ForgottenExtent
@_exported public import struct CameoStore.ForgottenSource
@_exported public import struct CameoStore.JobFilter
@_exported public import struct CameoStore.MemoryUse
@_exported public import struct CameoStore.StartRate

#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif
