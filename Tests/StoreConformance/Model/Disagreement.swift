/// The store and the model differ.
struct Disagreement: Error, CustomStringConvertible {
    let description: String

    init(step: Int, operation: ModelRun.Operation, _ expected: String, _ found: String) {
        let (model, store) = (Set(expected.split(separator: "\n")), Set(found.split(separator: "\n")))
        description = """
            step \(step), \(operation.rawValue): the model has \(model.subtracting(store).sorted()), \
            the store \(store.subtracting(model).sorted())
            """
    }
}
