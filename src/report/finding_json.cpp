#include "report/cell_json.hpp"

namespace cudamatrix::report {

Json finding_json(const FindingGroup& group) {
    auto out = finding_json(group.finding);
    out["field"] = info(group.finding.primary).name;
    out["file"] = group.where.file;
    out["line"] = group.where.line;
    out["column"] = group.where.column;
    if (group.waived) {
        out["waived"] = Json{{"because", group.waived->because},
                             {"until", group.waived->until},
                             {"line", group.waived->where.line}};
    }
    return out;
}

}  // namespace cudamatrix::report
