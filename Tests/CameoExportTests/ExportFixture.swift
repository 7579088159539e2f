import CameoModel
import CameoObjectStorage
import CameoPostgreSQL
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport

@testable import CameoSQLite

/// Stores of one test, of both engines, with one clock.
struct ExportFixture {
    /// Where a database keeps large bytes.
    enum Place: String, CaseIterable {
        case rows, folder, bucket
    }

    let folder: TemporaryFolder
    let clock = ConformanceClock()
    let server: PostgreSQLServer
    /// The name of a database's place, and what opens it.
    private let place: BytesPlace?
    private let objects: ObjectServer?

    init(_ kind: Place = .rows) async throws {
        folder = try TemporaryFolder()
        server = try await .shared()
        switch kind {
        case .rows: (place, objects) = (nil, nil)
        case .folder:
            let name = folder.path("bytes")
            try FileManager.default.createDirectory(atPath: name, withIntermediateDirectories: true)
            objects = nil
            place = BytesPlace(chosen: name) { name throws(StoreError) in
                try ByteStorages.open(name, creating: true, environment: [:])
            }
        case .bucket:
            let objects = try await ObjectServer.start(.swift)
            self.objects = objects
            place = BytesPlace(chosen: objects.name("pictures")) { name throws(StoreError) in
                try ByteStorages.open(name, creating: false, environment: objects.environment)
            }
        }
    }

    /// A store in a folder with something of every kind, some of it inserted by SQL.
    func furnished(_ name: String = "store") async throws -> SQLiteStore {
        let store = try folderStore(name)
        try await Furnishing(store: store, clock: clock).run()
        try await sql(
            """
            INSERT INTO job(request) VALUES ('{"source": "file:///pictures/by SQL.jpg", "renditions": [{"width": 9}]}');
            INSERT INTO job(request) VALUES ('{"source": "file:///pictures/bad.jpg", "renditions": [{"wide": 9}]}');
            INSERT INTO upload(data, request) VALUES (x'0102', '{"renditions": [{"width": 9}]}');
            INSERT INTO batch_removed SELECT id, 4, '', 2 FROM batch WHERE name = 'first';
            """,
            of: store
        )
        while try await store.acceptPage() {}
        return store
    }

    func folderStore(_ name: String) throws -> SQLiteStore {
        try SQLiteStore(at: folder.path(name), clock: clock.storeClock)
    }

    func database(_ url: String) throws -> PostgreSQLStore {
        try PostgreSQLStore(DatabaseURL(url), bytes: place, clock: clock.storeClock)
    }

    /// The whole stream of an export.
    func exported(_ store: any ExportableStore) async throws -> (stream: Data, summary: ExportSummary) {
        let stream = Mutex(Data())
        let summary = try await StoreExport(of: store).write(
            at: clock.now,
            to: { piece in stream.withLock { $0 += piece } },
            report: { _ in }
        )
        return (stream.withLock { $0 }, summary)
    }

    /// Imports a stream, in pieces of some bytes.
    func imported(
        _ stream: Data,
        into store: any ExportableStore,
        isAddition: Bool = false,
        pieces: Int = 65_537
    ) async throws -> StoreImport.Result {
        var rest = stream[...]
        var reading = StoreImport(into: store) { count in
            let piece = rest.prefix(min(count, pieces))
            rest = rest.dropFirst(piece.count)
            return Data(piece)
        }
        return try await reading.run(isAddition: isAddition) { _ in }
    }

    /// Runs statements as another program does.
    @discardableResult
    func sql(_ statements: String, of store: any Store) async throws -> String {
        if let store = store as? PostgreSQLStore { return try await server.sql(statements, schema: store.url.schema) }
        let result = try await run(
            "sqlite3",
            ["-bail", "\(store.location)/cameo.sqlite"],
            input: Data("PRAGMA wal_autocheckpoint=0;\n\(statements)\n".utf8)
        )
        guard result.exitStatus == 0 else { throw StoreError.failed(result.errorText) }
        return result.outputText.split(separator: "\n").dropFirst().joined(separator: "\n")
    }
}
