#include "kernels/host/host_tests.hpp"
#include "kernels/host/static_file.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

/// The stored record, as a Record again: judged anew from its checks, so that no stored verdict is believed
/// blindly.
Record from_stored(const json::Value& stored) {
    Record record;
    if (const json::Value* checks = stored.find("checks")) {
        for (const json::Value& check : checks->items()) {
            const json::Value* ok = check.find("ok");
            record.check(check.text_of("name"), ok != nullptr && ok->is_true(), check.text_of("note"));
        }
    }
    record = judge(record, stored.text_of("reason"), stored.text_of("summary"));
    if (record.status == Status::fail || record.status == Status::error) {
        record.fault = stored.text_of("fault");
        record.hint = stored.text_of("hint");
    }
    if (record.status == Status::error) {
        // Without a single compiled program the stored record says why (nvcc missing, say).
        record.status = Status::fail;
        record.reason = stored.text_of("reason");
        record.summary = stored.text_of("summary");
    }
    return record;
}

}  // namespace

/// What the image's nvcc made of the kernels when the image was built. Counts only while the built files are
/// the same.
Record static_compile(const Context& context) {
    std::string error;
    const auto stored = read_static_file(context.prefix, error);
    if (!stored) return Record::broken("no_static_file", error);
    const json::Value& evidence = *stored->find("evidence");
    const auto changed = changed_files(context.prefix, *stored);
    Record record;
    if (!changed.empty()) {
        record = Record::fail("stale", "", "changed since they were built: " + joined(changed));
        record.hint = "build the image again";
    } else if (built_without_nvcc(*stored)) {
        record = context.expect_cuda.empty() ? Record::skip("no_nvcc", stored->text_of("summary"))
                                             : Record::fail("lib_absent", "",
                                                            "the cell promises CUDA " + context.expect_cuda +
                                                                ", the suite was built without nvcc");
    } else {
        record = from_stored(*stored);
        const std::string nvcc = evidence.text_of("nvcc");
        if (!context.expect_cuda.empty() && !nvcc.empty()) {
            const bool same = major_minor(nvcc) == major_minor(context.expect_cuda);
            record.check("toolkit", same,
                         "the cell promises CUDA " + context.expect_cuda + ", nvcc is " + nvcc);
            if (record.status == Status::pass) record = judge(record, "wrong_toolkit", record.summary);
        }
    }
    for (const auto& [name, value] : evidence.members())
        add_evidence(record, name, value);
    return record;
}

}  // namespace cudamatrix::suite
