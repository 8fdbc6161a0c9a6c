#pragma once

#include <string>
#include <string_view>

#include "kernels/support/json.hpp"
#include "kernels/support/record.hpp"

namespace cudamatrix::suite {

[[nodiscard]] std::string_view to_text(Status status);
[[nodiscard]] bool status_from_text(std::string_view text, Status& status);

/// Exit code of a test's process: 0 pass, 1 fail, 3 error, 77 skip.
[[nodiscard]] int exit_code(Status status);

/// The record as the members `part`, `status` ... of a result line, in the order of the schema.
[[nodiscard]] json::Value to_json(const Record& record, std::string_view id, std::string_view part);

/// Writes the record as one line on a descriptor; false when it cannot be written whole.
[[nodiscard]] bool write_record(int fd, const Record& record, std::string_view id, std::string_view part);

void add_evidence(Record& record, std::string name, const json::Value& value);

/// May a skip carry this reason? The set is closed.
[[nodiscard]] bool known_skip_reason(std::string_view reason);

}  // namespace cudamatrix::suite
