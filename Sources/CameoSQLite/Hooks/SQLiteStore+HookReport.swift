package import CameoModel
internal import CameoQueue
package import CameoStore

extension SQLiteStore {
    package func hooks(failures limit: Int) async throws(StoreError) -> [HookReport] {
        // Apart, because it counts every delivery that is kept.
        try await readApart { db in try db.hooks(failures: limit) }
    }
}
