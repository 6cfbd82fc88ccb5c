//! Algorithm sections: symbolic execution into equations and `when` clauses (MLS 3.6 §11).
