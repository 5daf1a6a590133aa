holdfastVersions([{% for version in versions %}{% if not loop.first %}, {% endif %}"{{ version | escape(strategy="js") }}"{% endfor %}]);
