#include "kernels/support/test_main.hpp"

#include <dlfcn.h>

#include <cstdio>

#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {

namespace {

/// Whether the libcudart of this process is the one that interprets. It would make a GPU's result of a CPU's,
/// and the image's own a CPU's result of a GPU's.
bool is_interpreted() {
    return ::dlsym(RTLD_DEFAULT, "cudamatrix_interpreter") != nullptr;
}

}  // namespace

int test_main(int argc, char** argv, const char* id, PartFunction gpu, PartFunction cpu) {
    constexpr int kUsage = 2;
    std::string error;
    const auto context = parse_context({argv + 1, argv + argc}, error);
    const auto is_known = [&](const std::string& part) {
        return part == "gpu" || (part == "cpu" && cpu != nullptr) || part == "interpreted";
    };
    if (!context || !is_known(context->part)) {
        if (context)
            error = std::string("--part gpu") + (cpu != nullptr ? ", --part cpu" : "") +
                    " or --part interpreted is needed";
        std::fprintf(stderr, "%s: %s\n", id, error.c_str());
        return kUsage;
    }
    const bool interpreted = context->part == "interpreted";
    const Record record =
        interpreted != is_interpreted()
            ? Record::broken("wrong_runtime",
                             interpreted ? "this libcudart does not interpret" : "this libcudart interprets")
        : context->part == "cpu" ? cpu(*context)
                                 : gpu(*context);
    if (!write_record(context->record_fd, record, id, context->part)) {
        std::fprintf(stderr, "%s: cannot write the record on descriptor %d\n", id, context->record_fd);
        return exit_code(Status::error);
    }
    return exit_code(record.status);
}

}  // namespace cudamatrix::suite
