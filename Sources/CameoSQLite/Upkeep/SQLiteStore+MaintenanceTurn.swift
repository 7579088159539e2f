internal import CameoModel
package import CameoStore
internal import Foundation

extension SQLiteStore {
    package func maintenanceTurn() throws(StoreError) -> MaintenanceTurn? {
        guard writes != nil else { throw .readOnly(path: directory.path) }
        do throws(Errno) {
            return try FileLock.ifFree(directory.maintenanceLock).map { MaintenanceTurn($0) }
        } catch {
            throw StoreError(error, path: directory.path)
        }
    }
}
