internal import Glibc

/// The process's address space, which RLIMIT_AS bounds.
enum AddressSpace {
    /// Whether an allocation of this size would succeed now.
    static func hasRoom(for bytes: Int) -> Bool {
        guard bytes > 0, let piece = mmap(nil, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            piece != MAP_FAILED
        else { return bytes <= 0 }
        munmap(piece, bytes)
        return true
    }
}
