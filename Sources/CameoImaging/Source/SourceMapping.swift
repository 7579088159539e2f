package import CameoModel
internal import Glibc

/// A source's bytes, memory-mapped and not copied, for the lifetime of this value.
///
/// Decoders read the mapping directly. Truncating the file meanwhile kills the process with SIGBUS, which the worker
/// reports as `source.changed`; a sealed memory file cannot be truncated.
package struct SourceMapping: ~Copyable {
    let bytes: UnsafeRawBufferPointer
    let kind: SourceKind
    /// The EXIF of a JPEG that is hidden from decoders, or of a PNG where they do not look; nil if there is none, or if they
    /// see it.
    let exif: EXIFSegment?

    /// Maps a regular file or memory file that is open for reading; the descriptor may be closed afterwards.
    package init(_ descriptor: Int32, holding kind: SourceKind = .file) throws(ImagingError) {
        self.kind = kind
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable("\(Errno())") }
        guard status.st_size > 0 else {
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            exif = nil
            return
        }
        let size = Int(status.st_size)
        guard let start = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), start != MAP_FAILED else {
            throw .unreadable("\(Errno())")
        }
        bytes = UnsafeRawBufferPointer(start: start, count: size)
        exif =
            EXIFSegment(in: bytes).flatMap { Self.hide($0, in: start) ? $0 : nil } ?? PNGColor.lateEXIF(in: bytes)
    }

    /// Overwrites the marker in this process's copy of the page. Returns false if the page cannot be made writable.
    private static func hide(_ segment: EXIFSegment, in start: UnsafeMutableRawPointer) -> Bool {
        let pageSize = sysconf(Int32(_SC_PAGESIZE))
        let page = start + segment.marker / pageSize * pageSize
        guard mprotect(page, pageSize, PROT_READ | PROT_WRITE) == 0 else { return false }
        start.storeBytes(of: EXIFSegment.skipped, toByteOffset: segment.marker, as: UInt8.self)
        mprotect(page, pageSize, PROT_READ)
        return true
    }

    package func prefix(_ count: Int) -> [UInt8] { Array(bytes.prefix(count)) }

    deinit {
        if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) }
    }
}
