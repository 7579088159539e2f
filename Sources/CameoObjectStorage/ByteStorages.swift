package import CameoStore
internal import Foundation

/// The storages of this module, by their names on a command line.
package enum ByteStorages {
    /// Opens a storage. A folder is looked at, which blocks; of a bucket nothing is asked before the first call.
    ///
    /// - Parameters:
    ///   - name: `s3://bucket/prefix?endpoint=…&region=…`, or a folder of a shared file system, as a path or as `file://` and
    ///     an absolute path.
    ///   - creating: whether an empty folder becomes a storage; a bucket is never created.
    ///   - environment: the variables for credentials, region and trusted certificates.
    /// - Returns: the storage.
    /// - Throws: ``StoreError/cannotOpen(path:reason:)``, ``StoreError/missing(path:)``
    package static func open(
        _ name: String,
        creating: Bool,
        environment: [String: String]
    ) throws(StoreError) -> any ByteStorage {
        if name.hasPrefix("s3:") {
            let bucket = try BucketName(name, environment: environment)
            return try ObjectStorage(bucket, configuration: ObjectStorageConfiguration(environment: environment))
        }
        return try SharedFolder(
            at: name.hasPrefix("file:///") ? String(name.dropFirst(7)) : name,
            creating: creating
        )
    }
}
