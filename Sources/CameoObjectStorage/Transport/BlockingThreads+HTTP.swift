extension BlockingThreads<CurlHandle> {
    /// Carries out a request; it ends early if the task is cancelled.
    func perform(_ request: HTTPRequest) async -> Result<HTTPResponse, TransferFailure> {
        let result = await run { handle, isCancelled in
            Result { () throws(TransferFailure) in try handle.perform(request, isCancelled: isCancelled) }
        }
        return result ?? .failure(.cancelled)
    }
}

extension TransferFailure: CustomStringConvertible {
    var description: String {
        switch self {
        case .curl(let code): "\(code)"
        case .longBody: "the answer is longer than expected"
        case .file(let error): "\(error)"
        case .cancelled: "the call was cancelled"
        }
    }
}
