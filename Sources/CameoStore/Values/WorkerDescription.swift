/// What a store tells others of a worker.
package struct WorkerDescription: Hashable, Sendable {
    package let id: String
    package let host: String
    package let pid: Int
    package let version: String
    /// Jobs that it runs at once.
    package let concurrency: Int

    package init(id: String, host: String, pid: Int, version: String, concurrency: Int) {
        self.id = id
        self.host = host
        self.pid = pid
        self.version = version
        self.concurrency = concurrency
    }
}
