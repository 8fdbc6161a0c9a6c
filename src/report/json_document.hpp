// One JSON document, written member by member: pretty at the top, one line for each element of a long array,
// so that a report of 100,000 cells needs no tree in memory and two reports can be compared by line (private
// to src/report).
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

class JsonDocument {
  public:
    /// Starts the document with schema_version, tool, version and facts.
    explicit JsonDocument(const ToolInfo& tool);

    void member(std::string_view name, const Json& value);
    void begin_array(std::string_view name);
    void element(const Json& value);
    /// An element that is already JSON text on one line.
    void element_text(std::string_view text);
    void end_array();
    /// The whole document with a newline at its end. Nothing can be added afterwards.
    [[nodiscard]] std::string finish() &&;

  private:
    void key(std::string_view name);

    std::string out_ = "{";
    bool first_member_ = true;
    bool first_element_ = true;
};

}  // namespace cudamatrix::report
