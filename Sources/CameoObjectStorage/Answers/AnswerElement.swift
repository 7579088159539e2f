/// An element of a server's XML answer.
struct AnswerElement: Hashable, Sendable {
    let name: String
    /// The text directly in the element.
    var text = ""
    var children: [AnswerElement] = []

    /// The text of the first child of this name.
    subscript(name: String) -> String? { children.first { $0.name == name }?.text }

    /// The first child of this name.
    func child(_ name: String) -> AnswerElement? { children.first { $0.name == name } }

    func children(_ name: String) -> [AnswerElement] { children.filter { $0.name == name } }
}
