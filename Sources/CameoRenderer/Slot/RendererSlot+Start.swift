internal import CameoModel
internal import CameoRenderMessages
internal import Glibc

extension RendererSlot {
    /// Waits until ``current`` is ready. Returns false if it could not be made ready, after the back-off, or if the
    /// pool shuts down.
    mutating func prepareChild() -> Bool {
        if current == nil { current = spare.take() }
        do throws(MalformedMessage) {
            if current == nil { current = try spawn() }
            let deadline = Deadline(after: Self.startLimit)
            while try current?.greet() == false {
                guard !desk.isShuttingDown else { return false }
                guard !deadline.hasPassed else { throw MalformedMessage("it was not ready after \(Self.startLimit)") }
                waitForHello(deadline)
            }
            if let greeting = current?.greeting { desk.note(greeting) }
            return true
        } catch {
            backOff(after: error)
            return false
        }
    }

    /// Starts the spare, unless starts fail; the next picture served clears that state.
    mutating func prepareSpare() {
        guard spare == nil, failedStarts == 0 else { return }
        do throws(MalformedMessage) { spare = try spawn() } catch { failedStarts += 1 }
    }

    mutating func greetSpare() {
        // After its hello, the only thing to read from an idle child is its end.
        if spare?.version == nil {
            do throws(MalformedMessage) {
                _ = try spare?.greet()
                return
            } catch {}
        }
        failedStarts += 1
        retire(spare.take()) { $0.crashed += 1 }
    }

    private func spawn() throws(MalformedMessage) -> RendererChild {
        do throws(Errno) {
            let child = try RendererChild.spawn(configuration)
            let pid = child.pid
            desk.count { statistics in
                statistics.spawned += 1
                statistics.processes.insert(pid)
            }
            return child
        } catch {
            throw MalformedMessage("\(configuration.executable): \(error)")
        }
    }

    private mutating func waitForHello(_ deadline: Deadline) {
        var watch = Watch()
        watch.add(doorbell.descriptor)
        if let socket = current?.socket.descriptor { watch.add(socket) }
        if let pipe = current?.errorDescriptor { watch.add(pipe) }
        watch.wait(milliseconds: deadline.pollMilliseconds)
        if watch.isReady(doorbell.descriptor) { doorbell.silence() }
    }

    /// Waits before the next start: 0.1 s, doubling up to 5 s. A start may fail once by chance (killed from outside,
    /// out of memory); only after several in a row is the slot reported broken, and pictures fail because of it.
    mutating func backOff(after reason: MalformedMessage) {
        failedStarts += 1
        let end = current?.killAndReap()
        let words = ChildText.printable(current?.errors.text ?? "", keeping: .end)
        retire(current.take()) { $0.crashed += 1 }
        retire(spare.take()) { $0.crashed += 1 }
        let details = [ChildText.printable(reason.description), end.map(\.description) ?? "", words]
            .filter { !$0.isEmpty }
        let isBroken = failedStarts >= Self.startsBeforeBroken
        desk.slot(index, became: isBroken ? .broken(reason: details.joined(separator: ", ")) : .starting)

        let pause = min(.milliseconds(100) * (1 << min(failedStarts - 1, 10)), Duration.seconds(5))
        let deadline = Deadline(after: pause)
        while !desk.isShuttingDown, !deadline.hasPassed {
            var watch = Watch()
            watch.add(doorbell.descriptor)
            watch.wait(milliseconds: deadline.pollMilliseconds)
            doorbell.silence()
        }
    }
}
