/// How far a move has come.
package struct MoveProgress: Sendable {
    package enum Step: Sendable {
        case copying(RecordKind), comparing(RecordKind), reading
    }

    package let step: Step
    /// Records, of all kinds in this step.
    package let done: Int
    package let total: Int
    /// Bytes of blobs.
    package let bytes: Int
}
