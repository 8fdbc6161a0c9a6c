#include "unit/report/documents.hpp"

namespace fixtures {

using namespace cudamatrix::report;

Document review() {
    return {
        "Upgrade review of training",
        {"2 of 6 cells have an end of life within a year.", "https://example.org/review"},
        {{"What ends",
          {Paragraph{"Support of driver 550 ends first."},
           Timeline{"2026-11",
                    13,
                    {{"driver 550", "2027-04-30", Tone::bad, "end of life"},
                     {"python 3.9", "2025-10", Tone::warning, "end of life"},
                     {"cuda 13.3", "2026-11-01", Tone::plain, "release"},
                     {"debian12", "2027-11", Tone::dim, ""}}}}},
         {"Cells",
          {DocumentTable{{"cell", "verdict", "image", "GB"},
                         {{"drv550-cu12.4.1",
                           {"accepted", Tone::good},
                           {"nvidia/cuda:12.4.1", Tone::plain, true},
                           "4.5"},
                          {"drv470-cu12.4.1", {"rejected", Tone::bad}, "", "12"},
                          {"drv999-cu12.4.1", {"unknown", Tone::warning}}},
                         {false, false, false, true}},
           DocumentList{{"driver 470 is too old", "https://example.org/drivers#470"}}}},
         {"The change",
          {DocumentCode{"--- matrix.yaml\n+++ matrix.yaml\n@@ -1 +1 @@\n-cuda: 12.4\n+cuda: 12.8\n", "diff"}},
          true}}};
}

Document filled_with(const std::string& text) {
    return {
        text,
        {text},
        {{text,
          {Paragraph{text}, DocumentList{{text}},
           DocumentTable{
               {text, text}, {{text, {text, Tone::bad}}, {{text, Tone::plain, true}, text}}, {false, true}},
           DocumentCode{text, text}, DocumentCode{text, "diff"},
           Timeline{"2026-11", 13, {{text, "2026-12", Tone::good, text}, {text, text, Tone::bad, text}}},
           Timeline{text, 2, {{text, text, Tone::plain, text}}}}},
         {text, {Paragraph{text}}, true}}};
}

}  // namespace fixtures
