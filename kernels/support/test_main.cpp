#include "kernels/support/test_main.hpp"

#include <cstdio>

#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {

int test_main(int argc, char** argv, const char* id, PartFunction gpu, PartFunction cpu) {
    constexpr int kUsage = 2;
    std::string error;
    const auto context = parse_context({argv + 1, argv + argc}, error);
    if (!context || (context->part != "gpu" && context->part != "cpu")) {
        if (context) error = "--part gpu or --part cpu is needed";
        std::fprintf(stderr, "%s: %s\n", id, error.c_str());
        return kUsage;
    }
    const Record record = context->part == "gpu" ? gpu(*context) : cpu(*context);
    if (!write_record(context->record_fd, record, id, context->part)) {
        std::fprintf(stderr, "%s: cannot write the record on descriptor %d\n", id, context->record_fd);
        return exit_code(Status::error);
    }
    return exit_code(record.status);
}

}  // namespace cudamatrix::suite
