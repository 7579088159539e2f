import CameoEngine
import CameoStore
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StoreNameTests {
    @Test(arguments: [
        ("cameo-store", StoreName.folder("cameo-store")), ("/srv/store", .folder("/srv/store")),
        ("sqlite:///srv/store", .folder("/srv/store")), ("sqlite:store", .folder("store")),
        ("SQLite:///srv/store", .folder("/srv/store")), ("./a:b", .folder("./a:b")), ("C:odd", .folder("C:odd")),
        ("postgres://user@host/db", .database("postgres://user@host/db")),
        ("PostgreSQL://host/db", .database("PostgreSQL://host/db")), ("s3://bucket", .unknown(scheme: "s3")),
    ])
    func aNameChoosesAnEngine(text: String, name: StoreName) {
        #expect(StoreName(text) == name)
    }

    @Test(arguments: [nil, "s3://bucket"] as [String?])
    func aStoreOfAnEngineThatIsNotThereMakesNoFolder(blobs: String?) {
        let name = "mysql://user:secret/secret@host/db?secret"
        let error = StoreError.unknownEngine(name: name, scheme: "mysql")
        #expect(throws: error) { _ = try Engine.open(name, blobs: blobs) }
        #expect(throws: error) { _ = try Engine.open(reading: name, blobs: blobs) }
        #expect(error.description.contains("no engine for mysql:"))
        #expect(!error.description.contains("secret"))
        #expect(!FileManager.default.fileExists(atPath: "mysql:"))
    }
}
