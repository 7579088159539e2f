internal import CLinux
internal import CameoModel
internal import Glibc

/// A dedicated thread for blocking work. It ends when its body returns.
enum PermanentThread {
    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts the thread with a name of at most 15 characters, as `ps -T` shows it. Throws the error of pthread_create.
    static func start(named name: String, _ run: @escaping @Sendable () -> Void) throws(Errno) {
        let body = Unmanaged.passRetained(Body(name: name, run: run))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let result = pthread_create(
            &thread,
            &attributes,
            { argument in
                guard let argument else { return nil }
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                cameo_name_thread(body.name)
                body.run()
                return nil
            },
            body.toOpaque()
        )
        guard result == 0 else {
            body.release()
            throw Errno(result)
        }
    }
}
