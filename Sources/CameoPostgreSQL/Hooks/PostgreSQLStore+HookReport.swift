package import CameoModel
internal import CameoQueue
package import CameoStore

extension PostgreSQLStore {
    package func hooks(failures limit: Int) async throws(StoreError) -> [HookReport] {
        try await read { db in try db.hooks(failures: limit) }
    }
}
