internal import CameoModel
package import CameoStore
internal import Foundation

extension SQLiteStore {
    package func maintenanceTurn() throws(StoreError) -> MaintenanceTurn? {
        guard writes != nil else { throw .readOnly(path: directory.path) }
        do throws(Errno) {
            return MaintenanceTurn(try FileLock(directory.maintenanceLock))
        } catch {
            guard error.code == EAGAIN || error.code == EACCES else { throw StoreError(error, path: directory.path) }
            return nil
        }
    }
}
