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

    @Test func aStoreOfAnEngineThatIsNotThereMakesNoFolder() {
        let name = "mysql://user:secret/secret@host/db?secret"
        let error = #expect(throws: StoreError.unknownEngine(name: name, scheme: "mysql")) {
            _ = try Engine.open(name)
        }
        #expect(error?.description.contains("no engine for mysql:") == true)
        #expect(error?.description.contains("secret") == false)
        #expect(!FileManager.default.fileExists(atPath: "mysql:"))
    }
}
