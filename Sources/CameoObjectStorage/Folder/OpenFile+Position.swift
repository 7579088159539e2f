internal import CameoModel
internal import Glibc

extension OpenFile {
    /// Reads by position until the buffer is full or the file ends, and returns the number of bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer, from position: Int) throws(Errno) -> Int {
        var count = 0
        while count < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let part = pread(descriptor, rest.baseAddress, rest.count, off_t(position + count))
            if part < 0 {
                guard errno == EINTR else { throw Errno() }
                continue
            }
            guard part > 0 else { break }
            count += part
        }
        return count
    }
}
