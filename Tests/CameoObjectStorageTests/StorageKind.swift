import CameoModel
import CameoStore
import CameoSystem
import Foundation
import TestSupport
import Testing

@testable import CameoObjectStorage

/// Every storage that there is, each against the real thing.
enum StorageKind: String, CaseIterable {
    case folder, swift, juicefs

    /// An empty storage, with what has to live as long.
    func make() throws -> (storage: any ByteStorage, place: any Sendable) {
        switch self {
        case .folder:
            let folder = try TemporaryFolder()
            return (try SharedFolder(at: folder.path, creating: true), folder)
        case .swift: return (try server(.swift).storage(), 0)
        case .juicefs: return (try server(.juicefs).storage(), 0)
        }
    }
}

/// A server of this suite.
func server(_ kind: ObjectServer.Kind = .swift) throws -> ObjectServer { try #require(ObjectServerScope.current[kind]) }

extension ObjectServer {
    /// A storage of its own in this server, or by a proxy before it; `configure` may change its limits.
    func storage(
        _ prefix: String = "test-\(UUID().uuidString)",
        through proxy: FaultyProxy? = nil,
        environment changes: [String: String] = [:],
        _ configure: (inout ObjectStorageConfiguration) -> Void = { _ in }
    ) throws -> ObjectStorage {
        let environment = environment.merging(changes) { $1 }
        var configuration = ObjectStorageConfiguration(environment: environment)
        configuration.certificateAuthorities = certificateAuthorities ?? configuration.certificateAuthorities
        configuration.retries.firstPause = .milliseconds(5)
        configure(&configuration)
        let name = try BucketName(name(prefix, port: proxy?.port), environment: environment)
        return try ObjectStorage(name, configuration: configuration)
    }
}

extension ByteStorage {
    /// Stores bytes under their digest.
    func put(_ data: Data, existing: ExistingBytes = .kept) async throws(StoreError) -> PutResult {
        try await put(data, as: BlobDigest(of: data), mediaType: "image/webp", existing: existing)
    }
}

extension ObjectStorage {
    /// Stores an object whose bytes are not those that its name says.
    func damage(_ digest: BlobDigest, with other: Data, mediaType: String = "image/webp") async throws {
        let headers = [("content-type", mediaType)]
        let key = key(of: digest)
        let digest = BlobDigest(of: other)
        _ = try await client.send(BucketRequest(method: .put, key: key, headers: headers, body: other, digest: digest))
    }
}

extension BlobBytes {
    /// What is in the memory or the file.
    func read() throws -> (data: Data?, isFile: Bool) {
        switch self {
        case .inMemory(let data): return (data, false)
        case .file(let file, let count):
            let handle = FileHandle(fileDescriptor: file.descriptor, closeOnDealloc: false)
            defer { withExtendedLifetime(file) {} }
            try handle.seek(toOffset: 0)
            let data = try handle.readToEnd()
            return (data?.count == count ? data : nil, true)
        }
    }
}

/// A call that must fail because the storage denies it or cannot be reached, and the reason.
func trouble(
    _ kind: String,
    of storage: any ByteStorage,
    _ call: () async throws -> Any
) async throws -> String {
    let error = try #require(await #expect(throws: StoreError.self) { _ = try await call() })
    let (found, location, reason) =
        switch error {
        case .denied(let location, let reason): ("denied", location, reason)
        case .unreachable(let location, let reason): ("unreachable", location, reason)
        default: ("\(error)", "", "")
        }
    #expect((found, location) == (kind, storage.location))
    return reason
}

/// Random bytes: no two of these are alike.
func bytes(_ count: Int) throws -> Data {
    let data = try FileHandle(forReadingFrom: URL(filePath: "/dev/urandom")).read(upToCount: count) ?? Data()
    guard data.count == count else { throw OriginError.unexpected("\(data.count) random bytes") }
    return data
}
