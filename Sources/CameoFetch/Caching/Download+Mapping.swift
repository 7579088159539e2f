internal import CameoModel
internal import Foundation
internal import Glibc

extension Download.Body {
    /// A sealed memory file with the given bytes. Their digest is known and not computed again.
    init(_ data: Data, digest: BlobDigest, keeping reservation: ByteReservation) throws(Errno) {
        let file = try OpenFile.memory(containing: data, keeping: reservation)
        guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw Errno() }
        reservation.shrink(to: data.count)
        self.init(file: file, bytes: data.count, digest: digest)
    }

    /// The pages of the memory file itself, without a copy; nil if there is no address space for them. The file is sealed, so
    /// they never change, and they stay mapped as long as the value exists.
    func mapped() -> Data? {
        let count = bytes
        guard let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.descriptor, 0), start != MAP_FAILED else {
            return nil
        }
        return Data(bytesNoCopy: start, count: count, deallocator: .custom { munmap($0, $1) })
    }
}
