// Calls take and return the values of the model: `import Cameo` has them, and URLSession too where Foundation keeps that
// in a module of its own.
@_exported public import CameoModel

@_exported public import struct CameoSQLite.BackupReport
@_exported public import struct CameoSQLite.CheckFinding
@_exported public import struct CameoStore.BulkProgress
@_exported public import enum CameoStore.ForgottenExtent
@_exported public import struct CameoStore.ForgottenSource
@_exported public import struct CameoStore.JobFilter
@_exported public import struct CameoStore.StartRate

#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif
