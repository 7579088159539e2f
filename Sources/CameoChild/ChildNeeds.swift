/// What a locked-down child may still do, because its libraries need it.
package struct ChildNeeds {
    /// The folders that stay readable.
    package var readableFolders: [String]
    /// Whether anonymous memory may become executable.
    package var generatesCode: Bool

    package init(readableFolders: [String] = [], generatesCode: Bool = false) {
        self.readableFolders = readableFolders
        self.generatesCode = generatesCode
    }
}
