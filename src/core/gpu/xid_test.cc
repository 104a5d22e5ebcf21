#include "core/gpu/xid.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

TEST(Xid, SaysWhatItMeansAndWhatToDo) {
  const auto lost = xid_meaning(79);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->description, "GPU has fallen off the bus");
  EXPECT_EQ(lost->action, "drain and restart the machine");
  EXPECT_TRUE(lost->is_fatal);
  // NVIDIA advises nothing for a row that was remapped.
  ASSERT_TRUE(xid_meaning(63));
  EXPECT_FALSE(xid_meaning(63)->is_fatal);
  EXPECT_FALSE(xid_meaning(13)->is_fatal);
  EXPECT_FALSE(xid_meaning(0));
  EXPECT_FALSE(xid_meaning(999'999));
  int fatal = 0;
  for (std::uint64_t code = 0; code < 1000; ++code) {
    const auto known = xid_meaning(code);
    if (known && known->is_fatal) ++fatal;
  }
  EXPECT_EQ(fatal, 20);
}

}  // namespace
}  // namespace pennyweight
