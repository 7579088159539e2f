internal import CameoModel
package import CameoStore
package import Foundation

/// The limits of an ``ObjectStorage``, and what it takes from its surroundings.
package struct ObjectStorageConfiguration: Sendable {
    /// The maximum number of transfers at a time, each on a connection of its own.
    package var concurrency = 16
    package var limits = TransferLimits()
    package var retries = RetryRules()
    /// Bytes up to this size are put at once; more are uploaded in parts.
    package var largestPut = 16_777_216
    /// The size of a part in bytes, at least 5 MiB (a limit of S3).
    package var partBytes = 8_388_608
    /// The maximum number of parts of one object that are uploaded at a time.
    package var partsAtOnce = 4
    /// Objects up to this size in bytes are read into memory by ``ByteStorage/bytes(of:size:)``.
    package var largestInMemory = 1_048_576
    /// A file of certificates (PEM) to trust in place of the system's.
    package var certificateAuthorities: String?
    /// The folder of temporary files.
    package var temporaryFolder: String
    /// The variables from which credentials are read.
    package var environment: [String: String]
    package var now: @Sendable () -> Date = { Date() }
    /// A number between 0 and 1, for the pauses between attempts.
    package var random: @Sendable () -> Double = { Double.random(in: 0...1) }

    /// - Parameter environment: AWS_CA_BUNDLE or SSL_CERT_FILE names the trusted certificates, TMPDIR the folder of
    ///   temporary files.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let value = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        self.environment = environment
        certificateAuthorities = value("AWS_CA_BUNDLE") ?? value("SSL_CERT_FILE")
        temporaryFolder = value("TMPDIR") ?? "/tmp"
    }
}

/// How often and when a call is repeated that failed for a passing reason.
package struct RetryRules: Hashable, Sendable {
    /// The longest pause after the first failure; it doubles with each further one.
    package var firstPause: Duration = .milliseconds(200)
    package var longestPause: Duration = .seconds(8)
    /// No attempt begins so long after the first.
    package var patience: Duration = .seconds(60)

    /// The pause before the next attempt, after so many failures, at least 1; nil if there is none. `elapsed` is the time since
    /// the first attempt began, `asked` the pause that the server asks for, and `random` between 0 and 1.
    ///
    /// Any part of the pause is equally likely, so that the clients of a server that failed do not come back together
    /// (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
    func pause(after failures: Int, elapsed: Duration, asked: Duration?, random: Double) -> Duration? {
        let policy = RetryPolicy(base: firstPause, cap: longestPause, jitter: 1)
        let pause = max(policy.delay(afterFailures: failures, chance: random), min(asked ?? .zero, longestPause))
        return elapsed + pause < patience ? pause : nil
    }
}

/// The storages of this module, by their names on a command line.
package enum ByteStorages {
    /// Opens `s3://bucket/prefix?endpoint=…&region=…`, or a folder of a shared file system, named by its path or by `file://`
    /// and an absolute path. The folder is looked at, which blocks; of a bucket nothing is asked before the first call.
    /// `creating` tells whether an empty folder becomes a storage; a bucket is never created. The environment is read for
    /// credentials, region and trusted certificates.
    ///
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
