#include "matrix/schema.hpp"

#include "commands/common.hpp"

namespace cudamatrix {

Action add_schema(const Arguments& app) {
    auto format = std::make_shared<std::string>();
    add_format(app, *format, {"json"});
    return [format](const World&) {
        print(to_text(matrix_schema()) + "\n");
        return ExitCode::success;
    };
}

}  // namespace cudamatrix
